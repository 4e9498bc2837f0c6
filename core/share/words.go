package share

import "strings"

// fingerprintWords is a list of 256 short words that are hard to take for one another when read aloud. Its order is part
// of what a fingerprint is, and never changes.
const fingerprintWords = `
acorn actor alarm album alpha amber anchor angel apple apron arrow aspen atlas attic autumn badge
bagel baker bamboo banjo barley basil basket beacon beaver bench berry bishop blanket blossom bottle boulder
branch bread bridge bronze bucket buffalo butter button cabin cactus camel candle canoe canyon carbon carpet
carrot castle cedar cellar cherry chisel cider cinema circus clover cobalt coconut coffee comet copper coral
cotton cousin coyote cradle crater cricket crimson crystal cucumber curtain cycle dagger daisy dancer desert diamond
dinner dolphin donkey dragon drawer eagle easel eclipse elbow elder ember engine escort fabric falcon farmer
feather fennel ferry fiddle filter finger flannel flint flute fossil fountain fox frost galaxy garden garlic
gecko ginger glacier goblet granite grape guitar hammer harbor harvest hazel helmet hermit hickory honey hornet
hotel icicle igloo indigo insect island ivory jacket jaguar jasmine jelly jigsaw jungle juniper kayak kernel
kettle kitten ladder lagoon lantern laurel lemon lentil leopard lilac linen lobster locket lumber magnet mango
maple marble meadow melon mercury mirror mitten monkey mosaic mountain mustard nectar needle nickel noodle nutmeg
oatmeal ocean olive onion opal orbit orchid otter oxygen oyster paddle panda paper parrot pebble pelican
pencil pepper piano pigeon pillow pirate planet plum pocket poppy potato prairie pumpkin puzzle quartz quill
rabbit radish raven ribbon river robin rocket saddle saffron salmon sandal satin scarf school shadow shovel
silver sister spider spinach sponge spruce squirrel stable summit sunset swallow teapot temple thistle thunder tiger
timber tomato tractor trumpet tulip turtle umbrella valley vanilla velvet violin walnut whistle willow window zebra`

// wordFor is the word of a byte.
func wordFor(b byte) string { return strings.Fields(fingerprintWords)[b] }

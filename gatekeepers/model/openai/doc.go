// Package openai is a model behind any endpoint that speaks the chat completions protocol: a hosted one, or Ollama,
// llama.cpp, vLLM, LM Studio.
//
// Files: model.go what there is to configure and one answer from the first try to the last; stream.go how an answer is
// put together from its pieces; wire.go requests, and what an endpoint answers instead of a stream; names.go tools by
// names that the protocol allows; fault.go what a person reads when it goes wrong.
//
// A try is repeated, after what Retry-After says or a growing pause, only while nothing of the answer has been shown:
// text never stands twice. An answer that ends before its end is an error, and calls that were under way in it are
// dropped; calls whose arguments are no JSON are passed on, for the kernel answers those.
//
// The key comes in by value with the name of the variable that it stood in. Errors name the variable; the key is cut
// out of whatever an endpoint says before that is shortened. Nothing is read from the environment, and no redirect is
// followed, for the egress policy was asked about one host.
//
// Not guaranteed: that two endpoints mean the same by one word. What is not known is said as it came, in one line.
package openai

package agent_test

const childEnv = "GATEHOUSE_AGENT_TEST_CHILD"

func runChild(string) int { return 1 }

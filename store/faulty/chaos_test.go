package faulty_test

const childEnv = "GATEHOUSE_FAULTY_TEST_CHILD"

func runChild(string) error { return nil }

"""opcert: conformance tests for tensor-operator runtimes, made from the operators' own documents."""

"""What others say of calls and cases: the checker, shape inference, runtimes; how far each is trusted."""

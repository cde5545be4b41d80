"""Single changes of a call: what a runtime may have done in place of what was asked."""

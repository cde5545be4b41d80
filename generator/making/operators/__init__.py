"""An operator version at work: its calls, its reference, what they are made from."""

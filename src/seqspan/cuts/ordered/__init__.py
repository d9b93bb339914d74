"""The best spans in the order of time, and labels for those that return."""

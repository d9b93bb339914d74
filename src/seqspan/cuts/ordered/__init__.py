"""The best spans in the order of time, and one label for spans that recur."""

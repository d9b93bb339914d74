"""What every stage may use: types, threads, memory, checks, text."""

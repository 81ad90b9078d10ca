"""A job in plain words, by the vocabulary and the names of the catalogs."""

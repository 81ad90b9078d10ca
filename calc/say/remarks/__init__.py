"""The words of remarks on a single row, which `estimate` calls at its very end."""

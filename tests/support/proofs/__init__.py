"""Long runs that show what the tests hold in small; `scripts/proof` starts them."""

"""What is worth keeping: operations, the checks they must pass, and who proposes them."""

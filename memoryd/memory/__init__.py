"""What is kept: topic files, their index, and safe ways to change them."""

"""Training-free channels: each compares graphs with the references by one kind of evidence."""

"""What is measured on: data sets, synthetic graphs, readers of texts, and fetching."""

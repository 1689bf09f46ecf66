"""RDF: files and endpoints, and what their statements mean for a graph."""

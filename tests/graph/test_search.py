def test_x(small, make_graph, tmp_path):
    print(small, small.manifest, small.card("Q4").sentences(), small.search("paris"))
    print(make_graph(tmp_path, [("a","r","b")]))

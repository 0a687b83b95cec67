"""Steps that several methods share: order, cut, improve, merge, recover and cluster rows."""

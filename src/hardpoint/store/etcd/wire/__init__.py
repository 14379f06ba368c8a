"""etcd's wire format: `.proto` files written here, and the modules `tools/make_wire.sh` generates from them."""

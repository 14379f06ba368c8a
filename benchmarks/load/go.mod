module benchmarks.hardpoint.example/load

go 1.22

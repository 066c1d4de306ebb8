module github.com/radpool/radpool/internal/benchmarks

go 1.26.0

require (
	github.com/alitto/pond/v2 v2.7.1
	github.com/maypok86/otter/v2 v2.4.0
	github.com/panjf2000/ants/v2 v2.12.1
	github.com/radpool/radpool v0.0.0
	layeh.com/radius v0.0.0-20231213012653-1006025d24f8
)

require (
	go.uber.org/multierr v1.10.0 // indirect
	go.uber.org/zap v1.28.0 // indirect
	golang.org/x/sync v0.25.0 // indirect
	golang.org/x/sys v0.50.0 // indirect
)

replace github.com/radpool/radpool => ../..

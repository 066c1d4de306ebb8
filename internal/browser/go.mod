module github.com/radpool/radpool/internal/browser

go 1.26.0

replace github.com/radpool/radpool => ../..

require (
	github.com/chromedp/cdproto v0.159.0
	github.com/chromedp/chromedp v0.23.0
	github.com/radpool/radpool v0.0.0-00010101000000-000000000000
	layeh.com/radius v0.0.0-20231213012653-1006025d24f8
)

require (
	github.com/go-json-experiment/json v0.0.0-20260213210345-44df1a37e875 // indirect
	go.uber.org/multierr v1.10.0 // indirect
	go.uber.org/zap v1.28.0 // indirect
	golang.org/x/sys v0.50.0 // indirect
)

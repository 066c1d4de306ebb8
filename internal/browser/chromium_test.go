package browser_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/radpool/radpool/internal/need"
)

// patience is how long anything in the browser may take. Nothing is measured by it.
const patience = 2 * time.Minute

// flags keep Chromium from everything but the page.
var flags = []string{
	"disable-quic", "disable-component-update", "disable-domain-reliability", "no-pings", "hide-scrollbars",
}

// A tab is one tab of a browser of its own, with what its console has said.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu       sync.Mutex
	messages []string
	ended    chan struct{} // the last message was lastWord
}

const lastWord = "the test is over"

// open starts Chromium.
func open(t *testing.T) *tab {
	t.Helper()
	path := need.Command(t, "chromium", "apt-get install chromium")
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(t.TempDir()), chromedp.WindowSize(1280, 900))
	for _, f := range flags {
		options = append(options, chromedp.Flag(f, true))
	}
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	b := &tab{t: t, ctx: ctx, ended: make(chan struct{})}
	messages := chromedp.Console(ctx)
	go func() {
		for m, err := range messages {
			if err != nil {
				return // the browser was closed
			}
			if m.Text == lastWord {
				close(b.ended)
				return
			}
			b.mu.Lock()
			b.messages = append(b.messages, string(m.Type)+": "+m.Text+" "+m.URL)
			b.mu.Unlock()
		}
	}()
	return b
}

// do runs the steps, and ends the test if one fails.
func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ask(b, chromedp.Steps(steps...))
}

// ask runs an action, and returns what it found.
func ask[T any](b *tab, a chromedp.Action[T]) T {
	b.t.Helper()
	if _, err := chromedp.Run(b.ctx, chromedp.Location()); err != nil { // the browser lives as long as the context of its first call
		b.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, a)
	if err != nil {
		b.t.Fatal(err)
	}
	return v
}

// eval returns the value of a JavaScript expression.
func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	return ask(b, chromedp.Evaluate[T](expression))
}

// until waits until a JavaScript expression is true.
func (b *tab) until(expression string) {
	b.t.Helper()
	ask(b, chromedp.Poll[chromedp.Void](expression, chromedp.WithPollingInterval(50*time.Millisecond), chromedp.WithPollingTimeout(patience)))
}

// quiet fails the test if the console has said anything.
func (b *tab) quiet() {
	b.t.Helper()
	b.do(chromedp.Evaluate[chromedp.Void](`console.log("` + lastWord + `")`))
	select {
	case <-b.ended:
	case <-time.After(patience):
		b.t.Fatal("the console does not say its last word")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, m := range b.messages {
		b.t.Errorf("the console says: %s", m)
	}
}

// look is how somebody sees the page.
type look struct {
	name          string
	width, height int64
	scheme        string // light or dark
}

var looks = []look{
	{"light", 1280, 900, "light"},
	{"dark", 1280, 900, "dark"},
	{"phone", 360, 740, "light"},
	{"phone-dark", 360, 740, "dark"},
}

// screenshots takes a picture of the whole page in each look, and fails the test where a
// page is wider than the screen, so that one has to push it about.
func (b *tab) screenshots(name string) {
	b.t.Helper()
	dir := artifacts(b.t)
	for _, l := range looks {
		b.do(chromedp.EmulateViewport(l.width, l.height), scheme(l.scheme))
		if wide := eval[int64](b, "document.documentElement.scrollWidth"); wide > l.width {
			b.t.Errorf("%s, %s: the page is %d pixels wide, the screen %d", name, l.name, wide, l.width)
		}
		file := filepath.Join(dir, name+"-"+l.name+".png")
		if err := os.WriteFile(file, ask(b, chromedp.FullScreenshot(100)), 0o600); err != nil {
			b.t.Fatal(err)
		}
		b.t.Log(file)
	}
	b.do(chromedp.ResetViewport(), scheme(""))
}

func scheme(value string) chromedp.Action[chromedp.Void] {
	return func(ctx context.Context, _ *chromedp.Target) (v chromedp.Void, err error) {
		_, err = chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: value}},
		})
		return v, err
	}
}

// artifacts is where screenshots go: never into the repository.
func artifacts(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("RADPOOL_ARTIFACTS")
	var err error
	if dir == "" {
		dir, err = os.MkdirTemp("", "radpool-artifacts-") //nolint:usetesting // it is for afterwards
	} else {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

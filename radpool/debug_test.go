//go:build race || radpooldebug

package radpool_test

import (
	"context"
	"testing"

	"layeh.com/radius/rfc2865"

	"github.com/radpool/radpool/arena"
	"github.com/radpool/radpool/radpool"
)

// What is kept beyond Handle is found out where arenas look for it.
func TestUseAfterTheHandlerReturned(t *testing.T) {
	var kept *radpool.Request
	var value []byte
	var a *arena.Arena
	h := radpool.HandlerFunc(func(ctx context.Context, req *radpool.Request, resp *radpool.Response) {
		kept, value, a = req, req.Get(rfc2865.UserName_Type), req.Arena() // UserName_Get would be a copy
		accept(ctx, req, resp)
	})
	inWorld(t, &radpool.Server{Handler: h}, func(w *world) {
		w.nas(nasAddr).ask(access(1, 1, "ivan"))
		if string(value) == "ivan" {
			t.Error("a value that was kept still reads well")
		}
		for name, use := range map[string]func(){
			"the packet": func() { rfc2865.UserName_Get(kept.Packet) },
			"the arena":  func() { a.Bytes(1) },
		} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s that was kept can be used", name)
					}
				}()
				use()
			}()
		}
	})
}

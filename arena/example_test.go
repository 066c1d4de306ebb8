package arena_test

import (
	"fmt"

	"github.com/radpool/radpool/arena"
)

// Attribute is what the requests of these examples consist of.
type Attribute struct {
	Name  string
	Value []byte
}

// attributes is at package level: a Slab is one for each type, not for each request.
var attributes arena.Slab[Attribute]

// One request: its octets and its attributes come from the arena and go back with it.
func Example() {
	pool, err := arena.NewPool(arena.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	datagram := []byte("alice")

	a := pool.Get()
	userName := attributes.New(a)
	userName.Name = "User-Name"
	userName.Value = a.Copy(datagram)
	outlives := a.String(userName.Value) // copied out: userName is invalid after Release
	a.Release()

	fmt.Println(outlives)
	s := pool.Stats()
	fmt.Println(s.Gets, s.InUse, s.HighWater)
	// Output:
	// alice
	// 1 0 5
}

// The chunk starts at 32 KiB, as FreeRADIUS developers proposed, and becomes what requests really use.
func ExamplePool_Stats() {
	pool, err := arena.NewPool(arena.Config{Window: 100})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("at first:", pool.Stats().ChunkSize)
	for range 500 {
		a := pool.Get()
		a.Bytes(900)
		a.Bytes(2400)
		a.Release()
	}
	s := pool.Stats()
	fmt.Println("then:", s.ChunkSize, "for", s.HighWater)
	fmt.Println("overflows:", s.Overflows)
	// Output:
	// at first: 32768
	// then: 3584 for 3300
	// overflows: 0
}

// A mix of requests that changes: the chunk grows at once when the requests do, and shrinks when the large
// ones are long gone.
func ExamplePool_selfSizing() {
	pool, err := arena.NewPool(arena.Config{Window: 1000})
	if err != nil {
		fmt.Println(err)
		return
	}
	window := 0
	requests := func(windows, octets int) {
		for range windows {
			before := pool.Stats()
			for range 1000 {
				a := pool.Get()
				a.Bytes(octets)
				a.Release()
			}
			window++
			if s := pool.Stats(); s.ChunkSize != before.ChunkSize {
				fmt.Printf("window %2d, requests of %5d octets: %4d did not fit %5d, the chunk is now %5d\n",
					window, octets, s.Overflows-before.Overflows, before.ChunkSize, s.ChunkSize)
			}
		}
	}
	requests(10, 2000)
	requests(10, 40_000)
	requests(20, 2500)
	// Output:
	// window  4, requests of  2000 octets:    0 did not fit 32768, the chunk is now  2048
	// window 11, requests of 40000 octets: 1000 did not fit  2048, the chunk is now 40960
	// window 31, requests of  2500 octets:    0 did not fit 40960, the chunk is now  2560
}

// A chunk that is used up is no error; it is counted.
func ExampleArena_Bytes() {
	pool, err := arena.NewPool(arena.Config{ChunkSize: 1024, MaxChunkSize: 1024})
	if err != nil {
		fmt.Println(err)
		return
	}
	a := pool.Get()
	fmt.Println(len(a.Bytes(1000)), len(a.Bytes(4096)))
	a.Release()
	s := pool.Stats()
	fmt.Println(s.Overflows, "overflow of", s.OverflowBytes, "octets")
	// Output:
	// 1000 4096
	// 1 overflow of 4096 octets
}

func ExampleSlab_Make() {
	pool, err := arena.NewPool(arena.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	a := pool.Get()
	defer a.Release()
	reply := attributes.Make(a, 2)
	reply[0] = Attribute{"Framed-IP-Address", a.Copy([]byte{192, 0, 2, 1})}
	reply[1] = Attribute{"Session-Timeout", a.Copy([]byte{0, 0, 14, 16})}
	for _, attr := range reply {
		fmt.Println(attr.Name, attr.Value)
	}
	// Output:
	// Framed-IP-Address [192 0 2 1]
	// Session-Timeout [0 0 14 16]
}

func ExampleNewPool_invalid() {
	_, err := arena.NewPool(arena.Config{ChunkSize: 100, Percentile: 120})
	fmt.Println(err)
	// Output:
	// arena: Config.ChunkSize is 100, must be 256 to 16777216
	// arena: Config.Percentile is 120, must be more than 0, at most 100
}

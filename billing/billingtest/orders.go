package billingtest

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// orderSeed is of the shuffled orders: they are the same in every run.
const orderSeed = 2866

var recordNames = [...]string{"Start", "Interim 1", "Interim 2", "Stop"}

// orders are all orders of the four records, each record twice in a row, and some
// of the orders of the eight.
func orders() [][]int {
	var all [][]int
	for _, order := range permutations(4) {
		var twice []int
		for _, v := range order {
			twice = append(twice, v, v)
		}
		all = append(all, twice)
	}
	rng := rand.New(rand.NewPCG(orderSeed, 0))
	for range 12 {
		order := []int{0, 0, 1, 1, 2, 2, 3, 3}
		rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		all = append(all, order)
	}
	return all
}

// permutations are all orders of 0 to n-1, the natural one first.
func permutations(n int) [][]int {
	var all [][]int
	var permute func(done, left []int)
	permute = func(done, left []int) {
		if len(left) == 0 {
			all = append(all, done)
		}
		for i, v := range left {
			rest := append(append([]int{}, left[:i]...), left[i+1:]...)
			permute(append(append([]int{}, done...), v), rest)
		}
	}
	left := make([]int, n)
	for i := range left {
		left[i] = i
	}
	permute(nil, left)
	return all
}

// maxOrders is how many orders are told that end in something else: after these the
// reader knows.
const maxOrders = 3

// ordered is a session whose records came in an order of their own.
type ordered struct {
	id    string // UniqueID
	order string // in words
	want  Session
}

// inOrder sends the requests in this order.
func (s *suite) inOrder(order []int, requests []Request) {
	for _, k := range order {
		s.send(requests[k])
	}
}

// inWords is an order of records with these names: "Start twice, Stop".
func inWords(order []int, names []string) string {
	var words []string
	for i := 0; i < len(order); i++ {
		word := names[order[i]]
		if i+1 < len(order) && order[i+1] == order[i] {
			word += " twice"
			i++
		}
		words = append(words, word)
	}
	return strings.Join(words, ", ")
}

// expectOrders compares sessions with what they must be, which comes from what as says. All
// that is wrong is one failure: the first few orders, a line each, and how many more.
func (s *suite) expectOrders(rule, as string, told []ordered, all map[string]Session) {
	var wrong []string
	for _, o := range told {
		diff := "there is no session"
		if got, found := all[o.id]; found {
			diff = o.want.diff(got)
		}
		if diff != "" {
			wrong = append(wrong, o.order+": "+diff)
		}
	}
	if len(wrong) == 0 {
		return
	}
	more := ""
	if n := len(wrong) - maxOrders; n > 0 {
		wrong, more = wrong[:maxOrders], fmt.Sprintf("\n\tand %d more", n)
	}
	s.fail("Account", rule, "of %d orders some do not end as %s:\n\t%s%s", len(told), as, strings.Join(wrong, "\n\t"), more)
}

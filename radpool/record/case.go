package record

import (
	"iter"
	"slices"
	"strings"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"

	"github.com/radpool/radpool/internal/dict"
	"github.com/radpool/radpool/internal/golden"
	"github.com/radpool/radpool/radpool"
)

// A pending is a request that is being answered.
type pending struct {
	recorder *Recorder
	code     radius.Code
	pairs    []golden.Pair
	method   string // the name of the password; "": there is none
	password string // what it is instead; "": one for all
	useless  bool   // it cannot be replayed
}

// request takes down all but what is secret.
func (r *Recorder) request(req *radpool.Request) *pending {
	p := &pending{recorder: r, code: req.Code, useless: req.Code != radius.CodeAccessRequest && req.Code != radius.CodeAccountingRequest}
	if req.RemoteAddr.IsValid() {
		p.pairs = append(p.pairs, golden.Pair{Name: golden.Source, Text: req.RemoteAddr.Addr().String()})
	}
	for ref, pair := range golden.Attributes(req.Attributes) {
		switch ref.Name {
		case "EAP-Message", "State": // parts of a conversation whose other side is not here
			p.useless = true
		case unreadable: // nobody knows what is in it
		case "User-Password":
			p.method = golden.UserPassword
			p.password = r.macPassword(req)
		case "CHAP-Password":
			p.method = golden.CHAPPassword
		case "MS-CHAP-Response":
			p.method = golden.MSCHAPPassword
		case "MS-CHAP2-Response":
			p.method = golden.MSCHAP2Password
		default:
			if !dict.Secret(ref.Attr) {
				p.pairs = append(p.pairs, r.masked(ref, pair, "secret"))
			}
		}
	}
	return p
}

// macPassword is the password of a NAS that authenticates a device by its MAC address: that
// is the User-Name and no secret. Of all others it is empty.
func (r *Recorder) macPassword(req *radpool.Request) string {
	name := req.Get(rfc2865.UserName_Type)
	given, err := req.UserPassword(nil)
	if err != nil || string(given) != string(name) || rfc2865.ServiceType_Get(req.Packet) != rfc2865.ServiceType_Value_CallCheck {
		return ""
	}
	if r.o.HashNames {
		return r.hash(name)
	}
	return string(name)
}

// unreadable is what golden.Attributes calls a Vendor-Specific in which not everything has a name.
const unreadable = "Vendor-Specific"

// isName reports whether it is one that HashNames is about.
func isName(ref dict.Ref) bool { return ref.Name == "User-Name" || ref.Name == "Calling-Station-Id" }

// masked is an attribute without what tells too much.
func (r *Recorder) masked(ref dict.Ref, pair golden.Pair, instead string) golden.Pair {
	switch {
	case r.o.HashNames && isName(ref):
		pair.Text = golden.Quote(r.hash(pair.Value))
	case ref.Type == dict.TypeString:
		text := string(pair.Value)
		if hidden := dict.HidePairs(text, instead); hidden != text {
			pair.Text = golden.Quote(hidden)
		}
	}
	return pair
}

// texts are the request and the reply as text. It is false where a replay could not end in
// the same.
func (p *pending) texts(resp *radpool.Response) (request, reply []byte, ok bool) {
	head := "silence"
	var attrs radius.Attributes
	if resp.Packet != nil && resp.Code != 0 {
		head, attrs = resp.Code.String(), resp.Attributes
	}
	if p.useless || resp.Err() != nil || head == radius.CodeAccessChallenge.String() {
		return nil, nil, false
	}
	pairs := slices.Clip(p.pairs)
	if p.method != "" {
		password := p.password
		if password == "" {
			password = p.recorder.o.Password
			if wasWrong(resp) {
				password = wrong(password)
			}
		}
		pairs = append(pairs, golden.Pair{Name: p.method, Text: golden.Quote(password)})
	}
	return golden.AppendPacket(nil, p.code.String(), slices.Values(pairs)), golden.AppendPacket(nil, head, p.reply(attrs)), true
}

// wasWrong reports whether a request was rejected for its password. Who rejects without a
// reason is taken to have done so.
func wasWrong(resp *radpool.Response) bool {
	if resp.Packet == nil || resp.Code != radius.CodeAccessReject {
		return false
	}
	why := resp.Reason()
	return why == "" || strings.Contains(why, "wrong-password")
}

// reply goes through the attributes of a reply. What is secret, or another in each reply, may
// be anything.
func (p *pending) reply(attrs radius.Attributes) iter.Seq[golden.Pair] {
	return func(yield func(golden.Pair) bool) {
		for ref, pair := range golden.Attributes(attrs) {
			masked := p.recorder.masked(ref, pair, "")
			if dict.Secret(ref.Attr) || ref.Name == "MS-CHAP-Error" || ref.Name == unreadable || masked.Text != pair.Text && !isName(ref) {
				masked.Text = "*"
			}
			if !yield(masked) {
				return
			}
		}
	}
}

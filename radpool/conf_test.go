package radpool_test

import (
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/radpool/radpool/radpool"
)

// overlay is a file system in which one file has another text.
type overlay struct {
	fs.FS
	name, text string
}

func (o overlay) Open(name string) (fs.File, error) {
	if name == o.name {
		return fstest.MapFS{name: {Data: []byte(o.text)}}.Open(name)
	}
	return o.FS.Open(name)
}

func (o overlay) Stat(name string) (fs.FileInfo, error) {
	if name == o.name {
		return fs.Stat(fstest.MapFS{name: {Data: []byte(o.text)}}, name)
	}
	return fs.Stat(o.FS, name)
}

func readConf(t *testing.T, text string) *radpool.Conf {
	t.Helper()
	conf, err := radpool.ReadConf(strings.NewReader(text), "radiusd.conf")
	if err != nil {
		t.Fatal(err)
	}
	return conf
}

// The seed's text, as it stands, dots and all.
func TestConfOfTheSeed(t *testing.T) {
	f, err := os.Open("testdata/conf/seed.conf")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	conf, err := radpool.ReadConf(f, "seed.conf")
	if err != nil {
		t.Fatal(err)
	}
	want := radpool.Config{
		MaxRequestTime: 9 * time.Second, CleanupDelay: 10 * time.Second, MaxRequests: 2097152,
		StartServers: 1, MaxServers: 128, MinSpareServers: 8, MaxSpareServers: 32, MaxRequestsPerServer: 3000, MaxQueueSize: 1048576,
	}
	if conf.Config != want {
		t.Errorf("got %+v, want %+v", conf.Config, want)
	}
	if len(conf.Notices) != 1 || conf.Notices[0].Field != "..." || conf.Notices[0].Line != 5 {
		t.Errorf("notices: %v", conf.Notices)
	}
}

// The clients of versions 1, 2 and 3, and what security { } says for those that say
// nothing.
func TestConfClients(t *testing.T) {
	conf := readConf(t, `
client 192.0.2.1 { # version 1: the name is the address
	secret		= one
	shortname	= first
}
client 192.0.2.0/24 { secret = two }
client old {
	ipaddr = 198.51.100.77
	netmask = 24
	secret = "th\"ree # no comment"
	nastype = cisco
}
client v6 {
	ipv6addr = 2001:db8::/32
	secret = 'fo${u}r'
	require_message_authenticator = no
	limit_proxy_state = no
	nas_type = other
}
client any { ipaddr = *
	secret = a\tb#c}
}
client mapped {
	ipaddr = ::ffff:203.0.113.5
	secret = "long \
secret"
	proto = udp
}
client radsec { ipaddr = 10.0.0.1
	proto = tls
	secret = radsec
}
client dynamic { ipaddr = 10.0.0.0/8
	dynamic_clients = dynamic_clients
}
client here { ipaddr = localhost
	secret = ${..common}
}
common = "in ${name}"
name = common
security {
	require_message_authenticator = yes
	limit_proxy_state = "auto"
}
`)
	var got []string
	for _, c := range conf.Clients {
		got = append(got, fmt.Sprintf("%s %s %s %v %v", c.Name, c.Prefix, c.Secret, c.MessageAuthenticator, c.LimitProxyState))
	}
	want := []string{
		"first 192.0.2.1/32 one yes auto",
		"192.0.2.0/24 192.0.2.0/24 two yes auto",
		`old 198.51.100.0/24 th"ree # no comment yes auto`,
		"v6 2001:db8::/32 fo${u}r no no",
		`any 0.0.0.0/0 a\tb#c} yes auto`,
		"mapped 203.0.113.5/32 long secret yes auto",
		"here 127.0.0.1/32 in common yes auto",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	var notices []string
	for _, n := range conf.Notices {
		notices = append(notices, fmt.Sprint(n.Line, " ", n.Field))
	}
	if want := []string{"29 client radsec", "33 client dynamic", "11 client.nastype", "18 client.nas_type"}; !slices.Equal(notices, want) {
		t.Errorf("notices %v, want %v", notices, want)
	}
	if c, err := radpool.NewClients(conf.Clients...); err != nil {
		t.Error(err)
	} else if cl, _ := c.Lookup(netip.MustParseAddr("203.0.113.5")); cl.Name != "mapped" {
		t.Errorf("203.0.113.5 belongs to %q", cl.Name)
	}
}

// What would serve more than it says is not opened; the same address is opened once.
func TestConfListen(t *testing.T) {
	conf := readConf(t, `
listen { type = auth
	ipaddr = *
	port = 0
	recv_buff = 65536
}
listen { type = acct
	ipv6addr = ::1
	recv_buff = 8192
}
server isp {
	listen { type = auth
		ipaddr = 192.0.2.1
		port = 1645
	}
	listen { type = acct
		ipv4addr = 192.0.2.1
		port = 1645
	}
	authorize { sql }
	client inner { ipaddr = 10.1.1.1
	secret = s }
}
listen { type = auth+acct
	port = 1645
}
listen { type = auth
	ipaddr = 192.0.2.2
	clients = some
}
listen { type = auth
	ipaddr = 192.0.2.2
	interface = eth1
}
listen { type = auth
	proto = tcp
}
listen { type = detail
	filename = ${nothing}
	load_factor = 10
}
listen { type = status
	ipaddr = 127.0.0.1
	port = 18121
	client admin { ipaddr = 127.0.0.1
	secret = adminsecret }
}
server status {
	listen { type = status
		ipaddr = 127.0.0.3
	}
	client admin { ipaddr = 127.0.0.1
	secret = adminsecret }
}
listen { type = status
	ipaddr = 127.0.0.2
}
listen { type = status
	ipaddr = 192.0.2.1
	port = 1645
}
`)
	var got []string
	for _, l := range conf.Listen {
		got = append(got, fmt.Sprintf("%d %v %s %d", l.Line, l.Addr, l.Network(), l.Services))
	}
	want := []string{"2 0.0.0.0:1812 udp4 1", "7 [::1]:1813 udp6 2", "12 192.0.2.1:1645 udp4 11", "24 0.0.0.0:1645 udp4 3", "55 127.0.0.2:18121 udp4 8"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if conf.Config.ReceiveBuffer != 65536 {
		t.Errorf("ReceiveBuffer %d, want the greatest", conf.Config.ReceiveBuffer)
	}
	if len(conf.Clients) != 0 {
		t.Errorf("clients of some sockets are those of all: %v", conf.Clients[0].Name)
	}
	var notices []string
	for _, n := range conf.Notices {
		notices = append(notices, fmt.Sprint(n.Line, " ", n.Field))
	}
	if want := []string{
		"20 server.authorize", "21 server.client", "27 listen with clients", "31 listen with interface",
		"35 listen with proto = tcp", "38 listen of type detail", "42 listen with client", "49 listen with clients of its server",
	}; !slices.Equal(notices, want) {
		t.Errorf("notices %q, want %q", notices, want)
	}
}

// Files, directories and what is not there; errors name the file that was included.
func TestConfIncludes(t *testing.T) {
	files := fstest.MapFS{
		"etc/raddb/radiusd.conf":              {Data: []byte("confdir = /etc/raddb\n$INCLUDE ${confdir}/clients.d/\n$INCLUDE pool.conf\n$-INCLUDE none.conf\nsecurity {\n\t$INCLUDE security.conf\n}\n")},
		"etc/raddb/pool.conf":                 {Data: []byte("thread pool {\r\n\tmax_servers = 7\r\n}\r\n")},
		"etc/raddb/security.conf":             {Data: []byte("max_attributes = 0")},
		"etc/raddb/clients.d/b.conf":          {Data: []byte("client b {\n ipaddr = 10.0.0.2\n secret = $ENV{SECRET}\n}\n")},
		"etc/raddb/clients.d/a":               {Data: []byte("client a {\n ipaddr = 10.0.0.1\n secret = s\n}\n")},
		"etc/raddb/clients.d/a~":              {Data: []byte("nonsense")},
		"etc/raddb/clients.d/.a.swp":          {Data: []byte("nonsense")},
		"etc/raddb/clients.d/b.conf.dpkg-old": {Data: []byte("nonsense")},
		"etc/raddb/clients.d/more/c.conf":     {Data: []byte("nonsense")},
	}
	env := func(name string) (string, bool) { return "from the environment", name == "SECRET" }
	conf, err := radpool.LoadConf(files, "/etc/raddb/radiusd.conf", env)
	if err != nil {
		t.Fatal(err)
	}
	if len(conf.Clients) != 2 || conf.Clients[0].Name != "a" || string(conf.Clients[1].Secret) != "from the environment" ||
		conf.Config.MaxServers != 7 || conf.Config.MaxAttributes != 2038 {
		t.Errorf("%+v", conf)
	}
	if _, err := radpool.LoadConf(files, "/etc/raddb/radiusd.conf", nil); err == nil || !strings.Contains(err.Error(), "/etc/raddb/clients.d/b.conf:3: secret refers to") {
		t.Errorf("got %v", err)
	}
	if _, err := radpool.LoadConf(files, "/etc/raddb/none.conf", nil); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "/etc/raddb/none.conf") {
		t.Errorf("got %v", err)
	}
	if _, err := radpool.ReadConf(strings.NewReader("\n$INCLUDE x"), "text"); err == nil || err.Error() != "text:2: $INCLUDE cannot be followed: there is only this one text" {
		t.Errorf("got %v", err)
	}
}

// All that is wrong is told, up to a bound.
func TestConfTellsAllErrors(t *testing.T) {
	_, err := radpool.ReadConf(strings.NewReader("max_requests = 0\ncleanup_delay = 99\nfoo = 1\n"), "c")
	if err == nil || strings.Count(err.Error(), "\n") != 2 {
		t.Errorf("got %v", err)
	}
	_, err = radpool.ReadConf(strings.NewReader(strings.Repeat("client x {\n}\n", 1000)), "c")
	if err == nil || strings.Count(err.Error(), "\n")+1 != radpool.MaxConfErrors {
		t.Errorf("got %v", err)
	}
}

// What stands alone in a line may be the rest of a secret.
func TestConfErrorsHoldNoStrayWords(t *testing.T) {
	for _, text := range []string{
		"client a {\n secret =\nhunter2\n}", "client a {\n secret =\nhunter2 hunter2\n}", "client a {\n secret = x\n'hunter2'\n}", "client a {\n secret = x,hunter2\n}",
		"client a {\n secret = 'hunter2\n}", "client a {\n secret = x\n'hunter2' y\n}", "hunter2", "hunter2 hunter2 hunter2 hunter2", "client a {\n secret = ${hunter2\n}",
		"sql {\n password = \"$ENV{hunter2}\"\n driver=mysql\n}", "client a {\n secret = hunter2\n ipaddr = 1\n}", "client a {\n secret hunter2 {\n}",
	} {
		_, err := radpool.ReadConf(strings.NewReader(text), "c")
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// A listener for CoA is named with its place and the reason, whatever else stands in it, and
// the others are served.
func TestConfListenCoA(t *testing.T) {
	conf := readConf(t, "server coa {\n\tlisten {\n\t\ttype = coa\n\t\tipaddr = *\n\t\tport = 3799\n\t\tserver = x\n\t}\n}\nlisten { type = auth\n}\n")
	if len(conf.Listen) != 1 || conf.Listen[0].Services != radpool.Auth {
		t.Errorf("listens on %+v", conf.Listen)
	}
	if len(conf.Notices) != 1 || !strings.HasPrefix(conf.Notices[0].String(),
		"radiusd.conf:2: listen of type coa is passed over: CoA-Requests and Disconnect-Requests are answered by NASes, and billingd is none: it sends them") {
		t.Errorf("named %v", conf.Notices)
	}
}

// Text from anybody is read or refused, and never makes it panic; what is read is valid.
func FuzzReadConf(f *testing.F) {
	for _, dir := range []string{"testdata/conf", "testdata/conf/broken"} {
		files, err := os.ReadDir(dir)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range files {
			if b, err := os.ReadFile(dir + "/" + file.Name()); err == nil {
				f.Add(string(b))
			}
		}
	}
	f.Add("client 10.0.0.0/8 { secret = \"${a}\" }\na = '$ENV{X}'\nsql { driver = rlm_sql_sqlite\nsqlite { filename = ${.:name}${..:instance} } }")
	f.Add("listen { type = auth+acct\nipv6addr = ::\n}\nserver x { authorize { if (a =~ /{/ && \"}\") { update { a := `b` } } } }")
	f.Add("client a { ipaddr = nas.example\n secret = s\n netmask = 24 }")
	f.Fuzz(func(t *testing.T, text string) {
		conf, err := radpool.ReadConf(strings.NewReader(text), "text")
		if err != nil {
			if ce := (*radpool.ConfError)(nil); !errors.As(err, &ce) || ce.Field == "" || ce.Problem == "" || ce.Line < 0 || ce.Line > strings.Count(text, "\n")+1 {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		if err := conf.Config.Validate(); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if len(conf.Hosts) > 0 {
			known := hosts{conf.Hosts[0].Name: "192.0.2.1 2001:db8::1"}
			_ = conf.Resolve(t.Context(), known)
		}
		if _, err := radpool.NewClients(conf.Clients...); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		for _, l := range conf.Listen {
			if !l.Addr.IsValid() || l.Addr.Port() == 0 || l.Services == 0 {
				t.Errorf("%q: %+v", text, l)
			}
		}
	})
}

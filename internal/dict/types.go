package dict

// A Type is the type of an attribute's value.
type Type uint8

// Types, by the names that dictionaries have for them.
const (
	TypeString     Type = iota + 1
	TypeOctets          // octets, octets[n]
	TypeIPAddr          // an IPv4 address
	TypeDate            // seconds since 1970, 32 bits
	TypeInteger         // 32 bits
	TypeIPv6Addr        //
	TypeIPv6Prefix      //
	TypeIFID            // an interface identifier of IPv6
	TypeInteger64       //
	TypeVSA             // Vendor-Specific itself
	TypeEther           // a MAC address
	TypeABinary         // a filter of Ascend's, which can only be given in hexadecimal
	TypeByte            //
	TypeShort           // 16 bits
	TypeSigned          // 32 bits
	TypeIPv4Prefix      //
	TypeComboIP         // an address of either version
)

var typeNames = [...]string{
	TypeString: "string", TypeOctets: "octets", TypeIPAddr: "ipaddr", TypeDate: "date", TypeInteger: "integer",
	TypeIPv6Addr: "ipv6addr", TypeIPv6Prefix: "ipv6prefix", TypeIFID: "ifid", TypeInteger64: "integer64", TypeVSA: "vsa",
	TypeEther: "ether", TypeABinary: "abinary", TypeByte: "byte", TypeShort: "short", TypeSigned: "signed",
	TypeIPv4Prefix: "ipv4prefix", TypeComboIP: "combo-ip",
}

// String returns the name, as in a dictionary.
func (t Type) String() string {
	if int(t) < len(typeNames) && typeNames[t] != "" {
		return typeNames[t]
	}
	return "invalid"
}

// typesByName has the names of types in lower case, those of FreeRADIUS 4 among
// them.
var typesByName = func() map[string]Type {
	m := map[string]Type{"ipv4addr": TypeIPAddr, "uint8": TypeByte, "uint16": TypeShort, "uint32": TypeInteger, "uint64": TypeInteger64, "int32": TypeSigned}
	for t, name := range typeNames {
		if name != "" {
			m[name] = Type(t)
		}
	}
	return m
}()

// compound are the types of attributes that consist of others. They are passed
// over.
var compound = map[string]bool{
	"tlv": true, "extended": true, "long-extended": true, "evs": true, "struct": true, "group": true, "union": true,
}

// bits is the size of a number; 0: the type is no number.
func (t Type) bits() int {
	switch t {
	case TypeByte:
		return 8
	case TypeShort:
		return 16
	case TypeInteger, TypeSigned:
		return 32
	case TypeInteger64:
		return 64
	}
	return 0
}

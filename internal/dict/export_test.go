package dict

import (
	"io/fs"
	"iter"
	"maps"
)

// Attrs goes through all attributes of a dictionary.
func (d *Dictionary) Attrs() iter.Seq[*Attr] { return maps.Values(d.byNumber) }

// LoadOver is Load with another dictionary in the place of the embedded one.
func LoadOver(embedded, fsys fs.FS, name string) (*Dictionary, error) {
	d, err := own(embedded, name)
	if err != nil {
		return nil, err
	}
	return load(d, fsys, name)
}

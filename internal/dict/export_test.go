package dict

import "io/fs"

// LoadOver is Load with another dictionary in the place of the embedded one.
func LoadOver(embedded, fsys fs.FS, name string) (*Dictionary, error) {
	d, err := own(embedded, name)
	if err != nil {
		return nil, err
	}
	return load(d, fsys, name)
}

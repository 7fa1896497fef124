package poison

import "github.com/kubectl-dra/kubectl-dra/inspect"

// Planted is a world in which each object has one hostile text.
type Planted struct {
	Objects inspect.Objects
	// Fields are the fields in which the texts are, as "Pod spec.nodeName", one for each object that has one.
	Fields []string
}

// Plant returns worlds that together have a hostile text in every field of every kind of some objects. Only
// one field of an object is touched, so that the object still plays its part. objects is called for fresh
// copies.
func Plant(objects func() inspect.Objects, text string) []Planted {
	tried := map[string]bool{}
	var worlds []Planted
	for {
		world := Planted{Objects: objects()}
		for _, k := range inspect.Kinds() {
			for _, object := range k.Objects(&world.Objects) {
				for _, leaf := range Strings(object) {
					if field := k.Name + " " + leaf.Path; !tried[field] {
						tried[field] = true
						leaf.Set(text)
						world.Fields = append(world.Fields, field)
						break
					}
				}
			}
		}
		if len(world.Fields) == 0 {
			return worlds
		}
		worlds = append(worlds, world)
	}
}

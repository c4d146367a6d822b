import { useUnitTypes } from '../../queries/unit_types'

/** Of all that pages of centers need, all unit types take the longest: this asks for them with the centers, not after them. Draws nothing. */
export function AskForUnits() {
  // In a component of its own: the page around it is not drawn again when they change.
  useUnitTypes()
  return null
}

import { useText } from '../../i18n/language'
import { useCenters } from '../../queries/centers'
import { cutOption } from '../../ui/cut_list'

/** What a field offers that chooses a center by name; `none`: what no choice is called, `chosen`: offered even if it is not listed. */
export function useCenterOptions({ none, chosen }: { none: string; chosen: string }) {
  const t = useText()
  const centers = useCenters()
  return [{ value: '', label: none }, ...namesWith(centers.data ?? [], chosen), ...cutOption(t, centers)]
}

/** The names of centers in their order; `chosen`, of an address or of a list that is cut, is among them. */
export function namesWith(centers: readonly { name: string }[], chosen: string): string[] {
  const names = centers.map((center) => center.name)
  return chosen === '' || names.includes(chosen) ? names : [...names, chosen]
}

import { Link } from '../../app/router/link'
import { pathTo } from '../../app/router/match'

/** Where something runs: center / unit type × count of units, in one line. */
export function Place({ at }: { at: { center: string; unit_type: string; unit_count: number } }) {
  return (
    <span style={{ whiteSpace: 'nowrap' }}>
      <Link className="in-text" href={pathTo('/centers/:center', { center: at.center })}>{at.center}</Link> / {at.unit_type} × {at.unit_count}
    </span>
  )
}

import { Link } from '../../app/router/link'
import { pathTo } from '../../app/router/match'
import { useText } from '../../i18n/language'
import { useUnitTypes } from '../../queries/unit_types'
import { Ready } from '../../ui/states'
import { Bars } from './bars'
import { busiest } from './busiest'
import styles from './overview.module.css'

const mostBars = 12

/** How full each unit type is; of many, the fullest. */
export function UnitUse() {
  const t = useText()
  const query = useUnitTypes()
  const active = (query.data ?? []).filter((unit) => unit.active)
  const shown = busiest(active, mostBars)
  const rest = active.length - shown.length
  return (
    <Ready query={query}>
      {active.length === 0 ? <p className="dim">{t('overview.units.none')}</p> : (
        <Bars bars={shown.map((unit) => ({
          id: unit.id, name: <Link href={pathTo('/centers/:center', { center: unit.center })}>{unit.center} / {unit.name}</Link>,
          value: unit.units_in_use, of: unit.unit_count, text: t('overview.units.of', { used: unit.units_in_use, all: unit.unit_count }),
        }))} />
      )}
      {rest > 0 ? <p className={styles.more}>{t('overview.units.fullest', { n: rest })} <Link className="in-text" href="/unit-types">{t('overview.units.all')}</Link></p> : null}
    </Ready>
  )
}

import { Link } from '../../app/router/link'
import { pathTo } from '../../app/router/match'
import { useText } from '../../i18n/language'
import { useUnitUse } from '../../queries/unit_use'
import { Ready } from '../../ui/states'
import { Bars } from './bars'
import { inOrder } from './in_order'
import styles from './overview.module.css'

/** How full each unit type is; of many, the fullest. */
export function UnitUse() {
  const t = useText()
  const query = useUnitUse()
  const shown = query.data ? inOrder(query.data) : []
  const rest = (query.data?.unit_type_count ?? 0) - shown.length
  return (
    <Ready query={query}>
      {shown.length === 0 ? <p className="dim">{t('overview.units.none')}</p> : (
        <Bars bars={shown.map((unit) => ({
          id: unit.id, name: <Link href={pathTo('/centers/:center', { center: unit.center })}>{unit.center} / {unit.name}</Link>,
          value: unit.units_in_use, of: unit.unit_count, text: t('overview.units.of', { used: unit.units_in_use, all: unit.unit_count }),
        }))} />
      )}
      {rest > 0 ? <p className={styles.more}>{t('overview.units.fullest', { n: rest })} <Link className="in-text" href="/unit-types">{t('overview.units.all')}</Link></p> : null}
    </Ready>
  )
}

import { Link } from '../../app/router/link'
import { pathTo } from '../../app/router/match'
import { useText } from '../../i18n/language'
import { useUnitTypes } from '../../queries/unit_types'
import { Ready } from '../../ui/states'
import { Bars } from './bars'

export function UnitUse() {
  const t = useText()
  const query = useUnitTypes()
  const active = (query.data ?? []).filter((unit) => unit.active)
  return (
    <Ready query={query}>
      {active.length === 0 ? <p className="dim">{t('overview.units.none')}</p> : (
        <Bars bars={active.map((unit) => ({
          id: unit.id, name: <Link href={pathTo('/centers/:center', { center: unit.center })}>{unit.center} / {unit.name}</Link>,
          value: unit.units_in_use, of: unit.unit_count, text: t('overview.units.of', { used: unit.units_in_use, all: unit.unit_count }),
        }))} />
      )}
    </Ready>
  )
}

import { useMemo } from 'react'
import { Link } from '../../app/router/link'
import { pathTo } from '../../app/router/match'
import { useText } from '../../i18n/language'
import type { UnitType } from '../../queries/unit_types'
import type { Column } from '../../ui/data_table'
import { formatBytes, formatShare, nothing } from '../../ui/format'
import { LoadBar } from '../../ui/load_bar'
import { StatePill } from '../../ui/state_pill'
import { Time } from '../../ui/zone'
import { freeUnits } from './filters'

export function useUnitTypeColumns(): Column<UnitType>[] {
  const t = useText()
  return useMemo(() => [
    { id: 'unit_type', title: t('units.unit'), cell: (u) => <Link href={pathTo('/unit-types/:id', { id: u.id })}>{u.name}</Link>, csv: (u) => u.name },
    { id: 'id', title: t('ui.id'), cell: (u) => <code>{u.id}</code>, csv: (u) => u.id, isHidden: true },
    { id: 'center', title: t('units.center'), cell: (u) => <Link href={pathTo('/centers/:center', { center: u.center })}>{u.center}</Link>, csv: (u) => u.center },
    { id: 'kind', title: t('units.kind'), cell: (u) => u.resource_type, csv: (u) => u.resource_type },
    { id: 'state', title: t('units.state'), cell: (u) => <UnitState unit={u} />, csv: (u) => u.active },
    { id: 'units', title: t('units.count'), isNumber: true, cell: (u) => u.unit_count, csv: (u) => u.unit_count },
    { id: 'in_use', title: t('units.used'), isNumber: true, cell: (u) => u.units_in_use, csv: (u) => u.units_in_use },
    { id: 'free', title: t('units.free'), isNumber: true, cell: (u) => freeUnits(u), csv: freeUnits },
    { id: 'load', title: t('units.load'), cell: (u) => <UnitLoad unit={u} /> },
    { id: 'cores', title: t('units.cores'), isNumber: true, cell: (u) => u.cores_per_unit || nothing, csv: (u) => u.cores_per_unit },
    { id: 'memory_bytes', title: t('units.memory'), isNumber: true, cell: (u) => (u.memory_bytes_per_unit ? formatBytes(u.memory_bytes_per_unit) : nothing), csv: (u) => u.memory_bytes_per_unit },
    { id: 'operators', title: t('units.operators'), isNumber: true, cell: (u) => <span title={u.operators.join(', ')}>{u.operators.length}</span>, csv: (u) => u.operators.join(' ') },
    { id: 'advice', title: t('units.advice'), isNumber: true, cell: (u) => (u.advice.length ? <StatePill tone="warn">{u.advice.length}</StatePill> : 0), csv: (u) => u.advice.length },
    { id: 'changed_at', title: t('units.changed'), cell: (u) => <Time at={u.changed_at} />, csv: (u) => u.changed_at, isHidden: true },
  ], [t])
}

export function UnitState({ unit }: { unit: UnitType }) {
  const t = useText()
  return unit.active ? <StatePill tone="good">{t('units.state.active')}</StatePill> : <StatePill tone="idle">{t('units.state.gone')}</StatePill>
}

export function UnitLoad({ unit }: { unit: UnitType }) {
  const share = unit.unit_count > 0 ? unit.units_in_use / unit.unit_count : 0
  return <LoadBar share={share}>{unit.unit_count > 0 ? formatShare(share, 0) : nothing}</LoadBar>
}

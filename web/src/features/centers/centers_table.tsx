import { type ReactNode, useMemo } from 'react'
import { Link } from '../../app/router/link'
import { pathTo } from '../../app/router/match'
import { useText } from '../../i18n/language'
import type { Center } from '../../queries/centers'
import { Ago } from '../../ui/ago'
import { type Column, DataTable } from '../../ui/data_table'
import { nothing } from '../../ui/format'
import { Time } from '../../ui/zone'
import { HealthPill, healthOf } from './health'

export function CentersTable({ centers, isPlain = false, tools, empty }: { centers: readonly Center[]; isPlain?: boolean; tools?: ReactNode; empty?: ReactNode }) {
  const t = useText()
  const columns = useMemo((): Column<Center>[] => {
    const use = (c: Center) => `${c.units_in_use} / ${c.unit_count}`
    return [
      { id: 'name', title: t('centers.name'), cell: (c) => <Link href={pathTo('/centers/:center', { center: c.name })}>{c.name}</Link>, csv: (c) => c.name },
      { id: 'health', title: t('centers.state'), cell: (c) => <HealthPill center={c} />, csv: healthOf },
      { id: 'last_seen_at', title: t('centers.seen'), cell: (c) => <Ago at={c.last_seen_at} />, csv: (c) => c.last_seen_at },
      { id: 'units_in_use', title: t('centers.units'), isNumber: true, cell: use, csv: use },
      { id: 'unit_types', title: t('centers.types'), isNumber: true, cell: (c) => c.unit_type_count, csv: (c) => c.unit_type_count },
      ...(isPlain ? [] : [
        { id: 'host', title: t('centers.host'), cell: (c: Center) => hostOf(c) ?? nothing, csv: hostOf },
        { id: 'agent_version', title: t('centers.version'), cell: (c: Center) => c.agent_version ?? nothing, csv: (c: Center) => c.agent_version },
        { id: 'certificate_not_after', title: t('centers.certificate'), cell: (c: Center) => <Time at={c.certificate_not_after} />, csv: (c: Center) => c.certificate_not_after },
        { id: 'created_at', title: t('centers.created'), cell: (c: Center) => <Time at={c.created_at} />, csv: (c: Center) => c.created_at, isHidden: true },
        { id: 'id', title: t('centers.id'), cell: (c: Center) => <code>{c.id}</code>, csv: (c: Center) => c.id, isHidden: true },
      ]),
    ]
  }, [t, isPlain])
  return (
    <DataTable name="centers" isPlain={isPlain} label={t('centers.title')} columns={columns} rows={centers} rowKey={(c) => c.id} tools={tools} empty={empty} />
  )
}

function hostOf(center: Center): string | undefined {
  const host = (center.facts as Record<string, unknown>).hostname
  return typeof host === 'string' ? host : undefined
}

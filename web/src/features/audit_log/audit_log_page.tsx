import { Button } from '@mantine/core'
import { Link } from '../../app/router/link'
import { changeFilters, useFilters } from '../../app/router/search'
import { useText } from '../../i18n/language'
import { type AuditEntry, useAuditLog } from '../../queries/audit_log'
import { type Column, DataTable } from '../../ui/data_table'
import { nothing } from '../../ui/format'
import { MomentFilter } from '../../ui/forms/moment_filter'
import { parseMoment } from '../../ui/forms/moments'
import { TextFilter } from '../../ui/forms/text_filter'
import { Page } from '../../ui/page'
import { EmptyState, Ready } from '../../ui/states'
import { Time } from '../../ui/zone'
import { actions, actionText } from './actions'
import styles from './audit_log.module.css'
import { VerifyLog } from './verify_log'

/** Who did what that needs a right. */
export function AuditLogPage() {
  const t = useText()
  const [raw, change] = useFilters(['actor', 'action', 'subject', 'since', 'until'])
  const filters = { ...raw, since: parseMoment(raw.since), until: parseMoment(raw.until) }
  const query = useAuditLog(filters)
  const columns = useColumns()
  const tools = (
    <>
      <TextFilter label={t('audit.actor')} value={filters.actor} placeholder="tok_…" width={230} onChange={(actor) => change({ actor })} />
      <TextFilter label={t('audit.action')} value={filters.action} list="audit-actions" width={190} onChange={(action) => change({ action })} />
      <TextFilter label={t('audit.subject')} value={filters.subject} width={230} onChange={(subject) => change({ subject })} />
      <MomentFilter label={t('audit.since')} value={filters.since} onChange={(since) => change({ since })} />
      <MomentFilter label={t('audit.until')} value={filters.until} onChange={(until) => change({ until })} />
    </>
  )
  const isFiltered = Object.values(filters).some((value) => value !== '')
  return (
    <Page title={t('audit.title')}>
      <p className="dim">{t('audit.hint')}</p>
      <VerifyLog />
      <datalist id="audit-actions">{actions.map((action) => <option key={action} value={action} label={t(`audit.act.${action}`)} />)}</datalist>
      <Ready query={query} tools={tools}>
        <DataTable name="audit-log" label={t('audit.title')} columns={columns} rows={query.items ?? []} rowKey={(e) => String(e.id)} pages={query}
          tools={tools}
          empty={isFiltered
            ? <EmptyState title={t('audit.none')} action={<Button onClick={() => change({ actor: '', action: '', subject: '', since: '', until: '' })}>{t('audit.none.clear')}</Button>} />
            : <EmptyState title={t('audit.none.yet')} />} />
      </Ready>
    </Page>
  )
}

function useColumns(): Column<AuditEntry>[] {
  const t = useText()
  const only = (name: 'actor' | 'action' | 'subject', value: string) => `/audit-log${changeFilters(window.location.search, { [name]: value })}`
  return [
    { id: 'at', title: t('audit.at'), cell: (e) => <Time at={e.at} />, csv: (e) => e.at },
    { id: 'actor', title: t('audit.who'), cell: (e) => <Link href={only('actor', e.actor)} title={t('audit.of.actor', { actor: e.actor })}>{e.actor_name ?? <code>{e.actor}</code>}</Link>, csv: (e) => e.actor },
    { id: 'actor_name', title: t('audit.actor'), isHidden: true, cell: (e) => <code>{e.actor}</code>, csv: (e) => e.actor_name },
    { id: 'action', title: t('audit.action'), cell: (e) => <>{actionText(t, e.action)} <Link href={only('action', e.action)}><code>{e.action}</code></Link></>, csv: (e) => e.action },
    { id: 'subject', title: t('audit.subject'), cell: (e) => <Link href={only('subject', e.subject)} title={t('audit.of.subject', { subject: e.subject })}><code>{e.subject}</code></Link>, csv: (e) => e.subject },
    { id: 'request_id', title: t('audit.request'), isHidden: true, cell: (e) => (e.request_id ? <code>{e.request_id}</code> : nothing), csv: (e) => e.request_id },
    { id: 'detail', title: t('audit.detail'), cell: (e) => <Detail entry={e} />, csv: (e) => JSON.stringify(e.detail) },
  ]
}

function Detail({ entry }: { entry: AuditEntry }) {
  const t = useText()
  const names = Object.keys(entry.detail)
  if (names.length === 0) return <span className="dim">{t('audit.detail.none')}</span>
  return (
    <details className={styles.detail}>
      <summary>{names.join(', ')}</summary>
      <pre>{JSON.stringify(entry.detail, null, 2)}</pre>
    </details>
  )
}

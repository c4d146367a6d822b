import { Link } from '../../app/router/link'
import { pathTo } from '../../app/router/match'
import { useFilters } from '../../app/router/search'
import { useText } from '../../i18n/language'
import { type JobType, useJobTypes } from '../../queries/job_types'
import { type Column, DataTable } from '../../ui/data_table'
import { nothing } from '../../ui/format'
import { LinkButton } from '../../ui/link_button'
import { Page } from '../../ui/page'
import { EmptyState, Ready } from '../../ui/states'
import { Time } from '../../ui/zone'
import measuring from '../measuring/measuring.module.css'
import { JobTypeDialog } from './job_type_dialog'
import { mixText } from './mix'

/** What was learned of each type of jobs: by it a job is predicted that names no operators of its own. */
export function JobTypesPage() {
  const t = useText()
  const [raw, change] = useFilters(['type'])
  const query = useJobTypes()
  const types = query.items ?? []
  const opened = types.find((type) => type.name === raw.type)
  const columns: Column<JobType>[] = [
    { id: 'name', title: t('jobs.type'), csv: (type) => type.name,
      cell: (type) => <LinkButton onClick={() => change({ type: type.name })}>{type.name}</LinkButton> },
    { id: 'origin', title: t('jobtypes.origin'), cell: (type) => t(`jobtypes.origin.${type.origin}`), csv: (type) => type.origin },
    { id: 'mix', title: t('jobtypes.mix'), isText: true, cell: (type) => mixText(type.mix) || nothing, csv: (type) => mixText(type.mix, Infinity) },
    { id: 'operators', title: t('jobtypes.count'), isNumber: true, cell: (type) => type.operators.length, csv: (type) => type.operators.length },
    { id: 'profiled', title: t('jobtypes.profiled'), cell: (type) => t(type.profiled ? 'ui.yes' : 'ui.no'), csv: (type) => type.profiled },
    { id: 'probe_task', title: t('jobtypes.task'), csv: (type) => type.probe_task_id, cell: (type) => (type.probe_task_id
      ? <Link href={pathTo('/probe-tasks/:id', { id: type.probe_task_id })}><code>{type.probe_task_id}</code></Link> : nothing) },
    { id: 'learned_from', title: t('jobtypes.from'), isHidden: true, csv: (type) => type.learned_from,
      cell: (type) => <Link href={pathTo('/jobs/:id', { id: type.learned_from })}><code>{type.learned_from}</code></Link> },
    { id: 'learned_at', title: t('jobtypes.at'), cell: (type) => <Time at={type.learned_at} />, csv: (type) => type.learned_at },
  ]
  return (
    <Page title={t('jobtypes.title')}>
      <p className={measuring.note}>{t('jobtypes.intro')}</p>
      <Ready query={query}>
        <DataTable name="job-types" label={t('jobtypes.title')} columns={columns} rows={types} rowKey={(type) => type.name} pages={query}
          empty={<EmptyState title={t('jobtypes.none')}>{t('jobtypes.none.hint')}</EmptyState>} />
      </Ready>
      {opened ? <JobTypeDialog type={opened} onClose={() => change({ type: '' })} /> : null}
    </Page>
  )
}

import { Link } from '../../app/router/link'
import { useSession } from '../../app/session'
import { useText } from '../../i18n/language'
import { useCenters } from '../../queries/centers'
import { CutMark } from '../../ui/cut_list'
import { Page, Section } from '../../ui/page'
import { Ready } from '../../ui/states'
import { CentersTable } from '../centers/centers_table'
import { AskAhead } from './ask_ahead'
import { Attention } from './attention'
import { FirstRun } from './first_run'
import styles from './overview.module.css'
import { QueueDepth } from './queue_depth'
import { RecentPlacements } from './recent_placements'
import { UnitUse } from './unit_use'

export function OverviewPage() {
  const t = useText()
  const { may } = useSession()
  const centers = useCenters()
  return (
    <Page title={t('overview.title')}>
      <AskAhead />
      <Ready query={centers}>
        <FirstRun centers={centers.data ?? []} />
        {centers.data?.length === 0 ? null : (
          <>
            <div className={styles.top}>
              <Section title={t('overview.centers')} side={<span><Link href="/centers?view=map">{t('overview.map')}</Link> · <Link href="/centers">{t('overview.all')}</Link></span>}>
                <CutMark list={centers} name={t('centers.title')} />
                <CentersTable centers={centers.data ?? []} isPlain />
              </Section>
              <Section title={t('overview.queue')} side={may('read_jobs') ? <Link href="/jobs">{t('overview.all.jobs')}</Link> : undefined}>
                <QueueDepth />
              </Section>
            </div>
            <div className={styles.top}>
              <Section title={t('overview.units')}><UnitUse /></Section>
              <Section title={t('overview.attention')}><Attention /></Section>
            </div>
            {may('read_jobs') ? <Section title={t('overview.placements')}><RecentPlacements /></Section> : null}
          </>
        )}
      </Ready>
    </Page>
  )
}

import { Button } from '@mantine/core'
import { Link } from '../../app/router/link'
import { navigate } from '../../app/router/location'
import { useSession } from '../../app/session'
import { useText } from '../../i18n/language'
import { Section } from '../../ui/page'
import styles from './overview.module.css'

/** What to do while there is no center. */
export function FirstRun() {
  const t = useText()
  const { may } = useSession()
  return (
    <Section title={t('overview.guide')}>
      <p>{t('overview.guide.text')}</p>
      <ol className={styles.steps}>
        <li>
          <div><h2>{t('overview.guide.enrol')}</h2><p className="dim">{t('overview.guide.enrol.text')}</p></div>
          {may('manage_network')
            ? <Button variant="filled" onClick={() => navigate('/centers?enrol=new')}>{t('overview.guide.enrol')}</Button>
            : <span className="dim">{t('overview.guide.ask')}</span>}
        </li>
        <li><div><h2>{t('overview.guide.measure')}</h2><p className="dim">{t('overview.guide.measure.text')}</p></div></li>
        <li>
          <div><h2>{t('overview.guide.submit')}</h2><p className="dim">{t('overview.guide.submit.text')}</p></div>
          {may('submit_jobs') ? <Link href="/submit">{t('overview.guide.submit')}</Link> : null}
        </li>
      </ol>
    </Section>
  )
}

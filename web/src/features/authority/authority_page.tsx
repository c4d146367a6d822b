import { Button } from '@mantine/core'
import { useText } from '../../i18n/language'
import { type Authority, useAuthority } from '../../queries/authority'
import { CopyButton } from '../../ui/copy_button'
import { saveFile } from '../../ui/csv'
import { Facts, Page, Section } from '../../ui/page'
import { StatePill } from '../../ui/state_pill'
import { Ready } from '../../ui/states'
import measuring from '../measuring/measuring.module.css'
import styles from './authority.module.css'
import { Certificates } from './certificates'
import { Replicas } from './replicas'
import { nextCommands, readyCenters } from './rotation'
import { WaitingCenters } from './waiting_centers'

/** Which authority signs, and how far a replacement is. Its steps are taken by the command line. */
export function AuthorityPage() {
  const t = useText()
  const query = useAuthority()
  const authority = query.data
  return (
    <Page title={t('authority.title')}>
      <p className={measuring.note}>{t('authority.intro')}</p>
      <Ready query={query}>
        {authority ? (
          <>
            <Section title={t('authority.rotation')}><Rotation authority={authority} /></Section>
            <Section title={t('authority.next')}><NextStep authority={authority} /></Section>
            {authority.phase === 'none' ? null : <Section title={t('authority.waiting')}><WaitingCenters authority={authority} /></Section>}
            <Section title={t('authority.replicas')}><Replicas authority={authority} /></Section>
            <Section title={t('authority.certificates')}
              side={<Button onClick={() => saveFile('ca.pem', authority.ca_pem, 'application/x-pem-file')}>{t('authority.ca')}</Button>}>
              <Certificates authority={authority} />
            </Section>
          </>
        ) : null}
      </Ready>
    </Page>
  )
}

function Rotation({ authority }: { authority: Authority }) {
  const t = useText()
  const { phase } = authority
  const ready = readyCenters(authority)
  return (
    <>
      <Facts items={[
        [t('authority.phase'), <StatePill key="p" tone={phase === 'none' ? 'idle' : 'busy'}>{t(`authority.phase.${phase}`)}</StatePill>],
        phase === 'none' || ready === null ? [t('authority.centers'), authority.center_count]
          : [t(`authority.ready.${phase}`), t('authority.ready.of', { n: ready, all: authority.center_count })],
      ]} />
      <p>{t(`authority.phase.${phase}.text`)}</p>
    </>
  )
}

function NextStep({ authority }: { authority: Authority }) {
  const t = useText()
  const commands = nextCommands(authority).join('\n')
  return (
    <>
      {authority.waits_for_count > 0 ? <p role="status">{t('authority.next.waits', { n: authority.waits_for_count })}</p> : null}
      <p>{t(`authority.next.${authority.phase}`)}</p>
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reachable by keyboard */}
      <pre className={styles.commands} tabIndex={0}>{commands}</pre>
      <CopyButton value={commands} label={t('authority.copy')} />
    </>
  )
}

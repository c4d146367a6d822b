import { Button } from '@mantine/core'
import { useEffect, useState } from 'react'
import { Link } from '../../app/router/link'
import { navigate } from '../../app/router/location'
import { useSession } from '../../app/session'
import { readStored, store } from '../../app/storage'
import { useText } from '../../i18n/language'
import type { Center } from '../../queries/centers'
import { useHasEndedJob, useIsMeasured } from '../../queries/first_run'
import { Section } from '../../ui/page'
import { centersForChoice, type FirstRunStep, firstRunSteps } from './first_run_steps'
import styles from './overview.module.css'

const stored = 'first_run'

/**
 * What leads from an empty network to the first job, until all of it is done or the reader wants no more of it. This browser remembers
 * either: a center that is away for a while does not bring the guide back.
 */
export function FirstRun({ centers }: { centers: readonly Center[] }) {
  const { may } = useSession()
  const [isOver, setOver] = useState(() => readStored(stored) !== null)
  // While there is no center, there is nothing else to show.
  const isEmpty = centers.length === 0
  const isAsked = isEmpty || (!isOver && may('read_jobs'))
  const measured = useIsMeasured(isAsked)
  const ended = useHasEndedJob(isAsked && may('read_jobs'))
  const steps = firstRunSteps({
    onlineCenterCount: centers.filter((center) => center.state === 'online' && !center.revoked_at).length,
    isMeasured: measured.data ?? false, hasEndedJob: ended.data ?? false,
  })
  const isKnown = measured.data !== undefined && ended.data !== undefined
  const isDone = isKnown && steps.every((step) => step.isDone)
  useEffect(() => {
    if (isDone) store(stored, 'done')
  }, [isDone])
  if (isEmpty) return <Guide steps={steps} isEmpty onDismiss={null} />
  if (isOver || !isKnown || isDone) return null
  return <Guide steps={steps} isEmpty={false} onDismiss={() => {
    store(stored, 'dismissed')
    setOver(true)
  }} />
}

function Guide({ steps, isEmpty, onDismiss }: { steps: readonly FirstRunStep[]; isEmpty: boolean; onDismiss: (() => void) | null }) {
  const t = useText()
  return (
    <Section title={t('overview.guide')} side={onDismiss ? <Button size="compact-xs" onClick={onDismiss}>{t('overview.guide.dismiss')}</Button> : undefined}>
      <p>{isEmpty ? `${t('overview.guide.none')} ` : ''}{t('overview.guide.text')}</p>
      <ol className={styles.steps}>
        {steps.map((step) => (
          <li key={step.id} className={step.isDone ? styles.done : undefined}>
            <div>
              <h3>{t(`overview.guide.${step.id}`)}{step.isDone ? <span className="visually-hidden">: {t('overview.guide.done')}</span> : null}</h3>
              <p className="dim">{t(`overview.guide.${step.id}.text`, { n: centersForChoice })}</p>
            </div>
            {step.isDone ? null : <Act step={step.id} />}
          </li>
        ))}
      </ol>
    </Section>
  )
}

/** What the reader can do about a step. */
function Act({ step }: { step: FirstRunStep['id'] }) {
  const t = useText()
  const { may } = useSession()
  if (step === 'measure') return may('manage_metering') ? <Link href="/measure">{t('overview.guide.measure.do')}</Link> : null
  if (step === 'submit') return may('submit_jobs') ? <Link href="/submit">{t('overview.guide.submit')}</Link> : null
  return may('manage_network')
    ? <Button variant="filled" onClick={() => navigate('/centers?enrol=new')}>{t('centers.enrol')}</Button>
    : <span className="dim">{t('overview.guide.ask')}</span>
}

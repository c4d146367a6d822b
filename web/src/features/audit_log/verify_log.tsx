import { Button, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { useText } from '../../i18n/language'
import { type AuditCheck, useVerifyAuditLog } from '../../queries/audit_log'
import { CopyButton } from '../../ui/copy_button'
import { useFieldErrors } from '../../ui/forms/field_errors'
import { Facts } from '../../ui/page'
import { ServerText } from '../../ui/server_text'
import { ErrorState } from '../../ui/states'
import { StatePill } from '../../ui/state_pill'
import styles from './audit_log.module.css'

const shape = /^[1-9]\d{0,18}:[0-9a-f]{64}$/

/** Has the server check that nothing in the log was changed or left out, as `fathom audit verify` does. */
export function VerifyLog() {
  const t = useText()
  const verify = useVerifyAuditLog()
  const [known, setKnown] = useState('')
  const typed = known.trim()
  const isGood = typed === '' || shape.test(typed)
  const errors = useFieldErrors(verify.error)
  function submit(event: FormEvent) {
    event.preventDefault()
    if (isGood) verify.mutate(typed)
  }
  return (
    <details className={styles.verify}>
      <summary>{t('audit.verify')}</summary>
      <p className="dim">{t('audit.verify.hint')}</p>
      <form className={styles.form} onSubmit={submit}>
        <TextInput className={styles.known ?? ''} label={t('audit.verify.known')} autoComplete="off" spellCheck={false} value={known}
          error={isGood ? errors.known : t('audit.verify.known.wrong')} onChange={(e) => {
            verify.reset()
            setKnown(e.currentTarget.value)
          }} />
        <Button type="submit" disabled={!isGood} loading={verify.isPending}>{t('audit.verify.do')}</Button>
      </form>
      <div aria-live="polite">
        {verify.error ? <ErrorState error={verify.error} /> : null}
        {verify.data ? <Outcome check={verify.data} /> : null}
      </div>
    </details>
  )
}

function Outcome({ check }: { check: AuditCheck }) {
  const t = useText()
  const end = `${check.last_number}:${check.last_sha256}`
  return (
    <>
      <Facts items={[
        [t('audit.verify.chain'), <StatePill key="c" tone={check.good ? 'good' : 'bad'}>{t(check.good ? 'audit.verify.good' : 'audit.verify.bad')}</StatePill>],
        ...(check.fault ? [[t('audit.verify.fault'), <ServerText key="f">{check.fault}</ServerText>] as const] : []),
        [t('audit.verify.acts'), check.acts],
        [t('audit.verify.unchained'), check.unchained],
        ...(check.removed > 0 ? [[t('audit.verify.removed'), check.removed] as const] : []),
        ...(check.last_number > 0 ? [[t('audit.verify.end'), <code key="e" className={styles.end}>{end}</code>] as const] : []),
      ]} />
      {check.good && check.last_number > 0 ? <CopyButton value={end} label={t('audit.verify.copy')} /> : null}
    </>
  )
}

import { Button, Group, Modal, NativeSelect, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { useText } from '../../../i18n/language'
import { type CreatedEnrolmentToken, useCenters, useCreateEnrolmentToken } from '../../../queries/centers'
import { CopyButton } from '../../../ui/copy_button'
import { CutMark } from '../../../ui/cut_list'
import { formatTime } from '../../../ui/format'
import { useFieldErrors } from '../../../ui/forms/field_errors'
import { ErrorState } from '../../../ui/states'
import { useZone } from '../../../ui/zone'
import styles from './enrol.module.css'
import { enrolCommand } from './enrol_command'

/** Makes a one-time token and shows, once, the command that uses it; then waits for the center. */
export function EnrolDialog({ onClose }: { onClose: () => void }) {
  const t = useText()
  const [name, setName] = useState('')
  const [valid, setValid] = useState('3600')
  const create = useCreateEnrolmentToken()
  const errors = useFieldErrors(create.error)
  function submit(event: FormEvent) {
    event.preventDefault()
    create.mutate({ center_name: name.trim(), valid_s: Number(valid) })
  }
  return (
    <Modal opened onClose={onClose} size="lg" title={t('centers.enrol')} closeOnClickOutside={!create.data} closeButtonProps={{ 'aria-label': t('ui.close') }}>
      {create.data ? <Created token={create.data} onClose={onClose} /> : (
        <form onSubmit={submit}>
          <TextInput data-autofocus label={t('centers.enrol.name')} description={t('centers.enrol.name.hint')} required withAsterisk={false} maxLength={63}
            pattern="[A-Za-z0-9][A-Za-z0-9._\-]*" autoComplete="off" spellCheck={false} value={name} error={errors.center_name}
            onChange={(e) => setName(e.currentTarget.value)} mb="sm" />
          <NativeSelect label={t('centers.enrol.valid')} value={valid} onChange={(e) => setValid(e.currentTarget.value)}
            data={[{ value: '3600', label: t('centers.enrol.valid.1h') }, { value: '86400', label: t('centers.enrol.valid.1d') }, { value: '604800', label: t('centers.enrol.valid.7d') }]} />
          {create.error ? <div className={styles.error}><ErrorState error={create.error} /></div> : null}
          <Group mt="md" gap="xs" justify="flex-end">
            <Button onClick={onClose}>{t('ui.cancel')}</Button>
            <Button type="submit" variant="filled" loading={create.isPending}>{t('centers.enrol.make')}</Button>
          </Group>
        </form>
      )}
    </Modal>
  )
}

function Created({ token, onClose }: { token: CreatedEnrolmentToken; onClose: () => void }) {
  const t = useText()
  const { zone } = useZone()
  const host = window.location.hostname
  const command = enrolCommand(host, token.token ?? '')
  const centers = useCenters()
  const center = centers.data?.find((c) => c.name === token.center_name)
  // Also one that was enrolled before counts only once it has connected with the new certificate.
  const isOnline = center?.state === 'online' && Date.parse(center.connected_at ?? '') > Date.parse(token.created_at)
  return (
    <>
      <p>{t('centers.enrol.once', { name: token.center_name, time: formatTime(token.expires_at, zone) })}</p>
      <p className="dim">{t('centers.enrol.where', { host })}</p>
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reachable by keyboard */}
      <pre className={styles.command} tabIndex={0}>{command}</pre>
      <p role="status">{isOnline ? t('centers.enrol.online', { name: token.center_name }) : t('centers.enrol.waiting')}</p>
      <CutMark list={centers} name={t('centers.title')} />
      <Group mt="md" gap="xs" justify="flex-end">
        <CopyButton value={command} label={t('centers.enrol.copy')} />
        <Button variant="filled" onClick={onClose}>{t('centers.enrol.done')}</Button>
      </Group>
    </>
  )
}

import { Button, Group, Modal, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useText } from '../../../i18n/language'
import { type Center, useDrainCenter, useReleaseCenter, useRevokeCenter } from '../../../queries/centers'
import { ConfirmByTyping } from '../../../ui/confirm_by_typing'
import { ErrorState } from '../../../ui/states'

/** The contract counts bytes, of which a Chinese character takes three. */
const longestReason = 160

export function CenterActions({ center }: { center: Center }) {
  const t = useText()
  const [asking, setAsking] = useState<'drain' | 'revoke' | null>(null)
  const [reason, setReason] = useState('')
  const drain = useDrainCenter()
  const release = useReleaseCenter()
  const revoke = useRevokeCenter()
  function close() {
    drain.reset()
    revoke.reset()
    setReason('')
    setAsking(null)
  }
  if (center.revoked_at) return null
  return (
    <>
      {center.quarantined_at ? <Button loading={release.isPending} onClick={() => release.mutate(center.id)}>{t('centers.release')}</Button> : null}
      {center.drained
        ? <Button loading={drain.isPending} onClick={() => drain.mutate({ center, drained: false })}>{t('centers.undrain')}</Button>
        : <Button onClick={() => setAsking('drain')}>{t('centers.drain')}</Button>}
      <Button onClick={() => setAsking('revoke')}>{t('centers.revoke')}</Button>
      {release.error || (asking === null && drain.error) ? <ErrorState error={release.error ?? drain.error} /> : null}
      <Modal opened={asking === 'drain'} onClose={close} title={t('centers.drain.title', { name: center.name })} closeButtonProps={{ 'aria-label': t('ui.close') }}>
        <p>{t('centers.drain.text')}</p>
        <form onSubmit={(event) => {
          event.preventDefault()
          drain.mutate({ center, drained: true, ...(reason.trim() ? { drain_reason: reason.trim() } : {}) }, { onSuccess: close })
        }}>
          <TextInput mt="sm" data-autofocus maxLength={longestReason} label={t('centers.drain.reason')} description={t('centers.drain.reason.hint')}
            value={reason} onChange={(e) => setReason(e.currentTarget.value)} />
          {drain.error ? <ErrorState error={drain.error} /> : null}
          <Group mt="md" gap="xs" justify="flex-end">
            <Button onClick={close}>{t('ui.cancel')}</Button>
            <Button type="submit" variant="filled" loading={drain.isPending}>{t('centers.drain.do')}</Button>
          </Group>
        </form>
      </Modal>
      <ConfirmByTyping opened={asking === 'revoke'} title={t('centers.revoke.title', { name: center.name })} target={center.name}
        action={t('centers.revoke.do')} busy={revoke.isPending} error={revoke.error} onClose={close}
        onConfirm={() => revoke.mutate(center.id, { onSuccess: close })}>
        <p>{t('centers.revoke.text')}</p>
      </ConfirmByTyping>
    </>
  )
}

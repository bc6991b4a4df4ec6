import type { AuditLog } from '../../observe/audit/audit-log.ts'
import type { AccessPolicy } from '../../router/access/policy.ts'
import type { AuditConfig } from '../../router/config/access/fields.ts'
import type { Environment } from '../../router/config/env.ts'
import type { Router } from '../../router/router.ts'
import { recordChanges, recordPolicy } from './change-audit.ts'
import { openLog } from './command-audit.ts'
import { PolicySource } from './policy-source.ts'

/** What is configured. */
export interface AccessSettings {
  readonly policy?: AccessPolicy | string | undefined
  readonly audit?: AuditConfig | undefined
}

/** Options of {@link AccessControl.open}. */
export interface AccessControlOptions {
  readonly env: Environment
  /** Called with problems of the audit log, and of a changed policy. */
  readonly onError: (error: Error) => void
  /** Tells the user what has happened. */
  readonly note: (text: string) => void
}

/** The access policy and the audit log of `trunkline up`. */
export class AccessControl {
  /** The audit log; undefined if nothing is recorded. */
  readonly audit: AuditLog | undefined
  /** The policy at the start; undefined if there is none. */
  readonly policy: AccessPolicy | undefined
  readonly #source: PolicySource
  readonly #endRecording: (() => void) | undefined
  #router: Router | undefined

  private constructor(
    policy: AccessPolicy | undefined,
    audit: AuditLog | undefined,
    source: PolicySource,
  ) {
    this.policy = policy
    this.audit = audit
    this.#source = source
    this.#endRecording = audit && recordChanges(audit)
  }

  /** Reads the policy and opens the audit log. Rejects if one of them cannot be used. */
  static async open(
    settings: AccessSettings,
    options: AccessControlOptions,
  ): Promise<AccessControl> {
    const { env, onError, note } = options
    let control: AccessControl | undefined
    const source = new PolicySource({
      env,
      onChange: policy => {
        if (control !== undefined) control.#apply(policy)
        note(`policy reloaded: ${policy.rules.length} rules`)
      },
      onRejected: reason => {
        void control?.audit?.record({ event: 'policy', outcome: 'rejected', reason })
        onError(new Error(`the policy stays as it was: ${reason}`))
      },
    })
    const policy = await source.use(settings.policy)
    try {
      const audit = settings.audit && (await openLog(settings.audit, onError))
      control = new AccessControl(policy, audit, source)
      return control
    } catch (error) {
      await source.close()
      throw error
    }
  }

  /** Sets the router to which later policies are applied. */
  start(router: Router): void {
    this.#router = router
    if (this.policy !== undefined) recordPolicy(this.audit, this.policy)
  }

  /** Applies another policy. Rejects, and changes nothing, if it is invalid. */
  async use(policy: AccessSettings['policy']): Promise<void> {
    this.#apply(await this.#source.use(policy))
  }

  /** Stops watching the policy, writes what is left to the audit log and closes it. */
  async close(): Promise<void> {
    this.#endRecording?.()
    await this.#source.close()
    await this.audit?.close()
  }

  #apply(policy: AccessPolicy | undefined): void {
    this.#router?.setPolicy(policy)
    recordPolicy(this.audit, policy)
  }
}

/** Who may create an account: everybody, people with an invitation, or nobody. */
export const registrationPolicies = ['open', 'invited', 'closed'] as const;
export type RegistrationPolicy = (typeof registrationPolicies)[number];

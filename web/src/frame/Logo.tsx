/** The name of the service with its logo. */
export function Logo() {
  return (
    <span className="flex items-center gap-2 text-lg font-semibold">
      <img src="/favicon.svg" alt="" width={26} height={26} />
      Lynxroom
    </span>
  );
}

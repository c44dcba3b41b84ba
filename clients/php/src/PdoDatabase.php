<?php

declare(strict_types=1);

namespace Identity;

/** Works with any PDO connection, in every error mode of PDO. */
final class PdoDatabase implements Database
{
    private ?\PDO $connection = null;

    /**
     * @param \PDO|\Closure(): \PDO $pdo a connection, or a function that opens one. The function is called at the first
     *     statement, and again after a statement that failed. So a page that needs no database opens no connection, and if
     *     the database is down, the kit refuses the login.
     */
    public function __construct(private readonly \PDO|\Closure $pdo)
    {
    }

    public function dialect(): string
    {
        return $this->connect()->getAttribute(\PDO::ATTR_DRIVER_NAME);
    }

    public function execute(string $sql, array $values = []): int
    {
        return $this->run($sql, $values)->rowCount();
    }

    public function value(string $sql, array $values = []): string|int|null
    {
        $row = $this->run($sql, $values)->fetch(\PDO::FETCH_NUM);
        return $row === false ? null : $row[0];
    }

    private function run(string $sql, array $values): \PDOStatement
    {
        try {
            $statement = $this->connect()->prepare($sql);
            if ($statement === false || !$statement->execute($values)) {
                throw new \RuntimeException('the database refused a statement');
            }
            return $statement;
        } catch (\Throwable $error) {
            $this->connection = null;
            throw $error;
        }
    }

    private function connect(): \PDO
    {
        return $this->connection ??= $this->pdo instanceof \PDO ? $this->pdo : ($this->pdo)();
    }
}

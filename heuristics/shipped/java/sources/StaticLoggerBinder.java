package org.slf4j.impl;

import org.slf4j.ILoggerFactory;
import org.slf4j.helpers.NOPLoggerFactory;

/** Found by SLF4J in place of a logging library, so that Kafka's classes stay silent. */
public final class StaticLoggerBinder {
    private static final StaticLoggerBinder ONLY = new StaticLoggerBinder();
    private final ILoggerFactory loggers = new NOPLoggerFactory();

    public static StaticLoggerBinder getSingleton() {
        return ONLY;
    }

    public ILoggerFactory getLoggerFactory() {
        return loggers;
    }

    public String getLoggerFactoryClassStr() {
        return NOPLoggerFactory.class.getName();
    }
}
